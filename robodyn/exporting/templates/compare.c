
static void compare(const char *what, const $dtype *found, const $dtype *expected, int n,
                    double near)
{
    for (int i = 0; i < n; i++) {
        if (!(fabs((double)found[i] - (double)expected[i]) <= near)) {
            printf("%s[%d] is %.9g, expected %.9g\n", what, i, (double)found[i],
                   (double)expected[i]);
            failures++;
            return;
        }
    }
}
