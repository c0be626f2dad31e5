#include "warpwright/torch.h"
