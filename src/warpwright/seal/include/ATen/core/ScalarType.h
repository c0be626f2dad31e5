#include "warpwright/scalar_type.h"
