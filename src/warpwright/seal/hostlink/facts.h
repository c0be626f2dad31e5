// The common members of the toolkit's structures and ours; the layouts differ, so they are copied one by one.
#define WARPWRIGHT_DEVICE_FACTS(FACT)                                                                                  \
  FACT(totalGlobalMem) FACT(sharedMemPerBlock) FACT(totalConstMem) FACT(sharedMemPerMultiprocessor)                    \
  FACT(sharedMemPerBlockOptin) FACT(reservedSharedMemPerBlock) FACT(memPitch) FACT(textureAlignment)                   \
  FACT(regsPerBlock) FACT(warpSize) FACT(maxThreadsPerBlock) FACT(maxThreadsDim[0]) FACT(maxThreadsDim[1])             \
  FACT(maxThreadsDim[2]) FACT(maxGridSize[0]) FACT(maxGridSize[1]) FACT(maxGridSize[2]) FACT(major) FACT(minor)        \
  FACT(multiProcessorCount) FACT(l2CacheSize) FACT(persistingL2CacheMaxSize) FACT(maxThreadsPerMultiProcessor)         \
  FACT(regsPerMultiprocessor) FACT(maxBlocksPerMultiProcessor) FACT(memoryBusWidth) FACT(concurrentKernels)            \
  FACT(cooperativeLaunch) FACT(ECCEnabled) FACT(integrated) FACT(asyncEngineCount) FACT(unifiedAddressing)             \
  FACT(managedMemory) FACT(canMapHostMemory) FACT(clusterLaunch) FACT(accessPolicyMaxWindowSize)

#define WARPWRIGHT_FUNCTION_FACTS(FACT)                                                                                \
  FACT(sharedSizeBytes) FACT(constSizeBytes) FACT(localSizeBytes) FACT(maxThreadsPerBlock) FACT(numRegs)               \
  FACT(ptxVersion) FACT(binaryVersion) FACT(cacheModeCA) FACT(maxDynamicSharedSizeBytes)                               \
  FACT(preferredShmemCarveout) FACT(clusterDimMustBeSet) FACT(requiredClusterWidth) FACT(requiredClusterHeight)        \
  FACT(requiredClusterDepth)

extern "C" {
// Written in the order above; the name has room for 256 bytes.
void hostlink_device_facts(long long* facts, char* name);
void hostlink_function_facts(long long* facts, const void* function);
}
