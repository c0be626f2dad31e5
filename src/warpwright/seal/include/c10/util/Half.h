#include "warpwright/half.h"
