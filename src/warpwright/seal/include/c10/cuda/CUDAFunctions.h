#include "warpwright/stream.h"
