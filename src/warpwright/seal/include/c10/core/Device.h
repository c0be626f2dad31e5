#include "warpwright/device.h"
