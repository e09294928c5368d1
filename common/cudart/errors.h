// The numbers of cudaError_t that the virtual GPU answers with.
#pragma once

#include <cstdint>

namespace roofwalk::cudart {

inline constexpr std::int32_t kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kInitializationError = 3,
                              kInvalidConfiguration = 9, kInvalidSymbol = 13, kInvalidDeviceFunction = 98,
                              kInvalidKernelImage = 200, kNoKernelImage = 209, kInvalidPtx = 218,
                              kJitCompilerNotFound = 221, kIllegalAddress = 700, kOutOfResources = 701,
                              kLaunchTimeout = 702, kAssert = 710, kHardwareStackError = 714, kMisalignedAddress = 716,
                              kInvalidPc = 718, kLaunchFailure = 719, kCooperativeLaunchTooLarge = 720,
                              kNotPermitted = 800, kNotSupported = 801, kUnknown = 999;

}  // namespace roofwalk::cudart
