// The precompiled header of capture programs.
#include <cstddef>
// Avoids instantiating the special functions of <cmath> in every program, which takes as long as a small program.
#undef _GLIBCXX_USE_STD_SPEC_FUNCS

#include <warpwright/capture.h>

#include <warpwright/words_taken_away.h>
