// Everything a capture program may include, precompiled.
#include <cstddef>
// The special functions of <cmath> would be instantiated anew in every program, at the cost of a small one.
#undef _GLIBCXX_USE_STD_SPEC_FUNCS

#include <warpwright/capture.h>

#include <warpwright/words_taken_away.h>
