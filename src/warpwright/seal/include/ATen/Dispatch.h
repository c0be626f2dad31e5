#include "warpwright/dispatch.h"
