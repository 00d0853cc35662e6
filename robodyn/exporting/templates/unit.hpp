// $title
// Matrices are row-major.
#ifndef ${macro}_HPP
#define ${macro}_HPP

#include "$prefix.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>

namespace $prefix {

using Real = $dtype;
constexpr int nq = $nq;
constexpr int nv = $nv;
