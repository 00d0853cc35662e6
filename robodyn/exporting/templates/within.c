
static int all_within(const $dtype *x, int n, $dtype most)
{
    for (int i = 0; i < n; i++) {
        if (!($size(x[i]) <= most)) {
            return 0;
        }
    }
    return 1;
}
