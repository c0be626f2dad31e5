#include "warpwright/cublas.h"
