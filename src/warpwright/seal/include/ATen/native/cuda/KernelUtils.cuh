#include "warpwright/numeric.h"
