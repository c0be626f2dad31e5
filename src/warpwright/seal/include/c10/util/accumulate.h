#include "warpwright/array_ref.h"
