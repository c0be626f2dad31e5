#include "warpwright/half.h"
#include "warpwright/check.h"
