#include "warpwright/library.h"
