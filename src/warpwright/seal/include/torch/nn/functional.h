#include "warpwright/functional.h"
