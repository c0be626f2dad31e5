#include "warpwright/complex.h"
