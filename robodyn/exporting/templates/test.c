/* Compares the functions of $prefix.h with numbers of robodyn. */
#include "$prefix.h"

#include <math.h>
#include <stdio.h>

static int failures = 0;
