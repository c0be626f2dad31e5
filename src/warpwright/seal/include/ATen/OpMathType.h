#include "warpwright/accumulate.h"
