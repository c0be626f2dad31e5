#include "warpwright/index.h"
