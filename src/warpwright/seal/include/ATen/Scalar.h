#include "warpwright/scalar.h"
