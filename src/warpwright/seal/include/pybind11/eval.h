#include "warpwright/pybind.h"
