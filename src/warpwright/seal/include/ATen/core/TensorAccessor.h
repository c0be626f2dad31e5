#include "warpwright/accessor.h"
