#include "warpwright/options.h"
