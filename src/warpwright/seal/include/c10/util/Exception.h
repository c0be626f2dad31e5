#include "warpwright/check.h"
