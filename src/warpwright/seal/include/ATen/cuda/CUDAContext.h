#include "warpwright/cublas.h"
#include "warpwright/stream.h"
