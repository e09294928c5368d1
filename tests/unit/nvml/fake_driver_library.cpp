// A fake driver and a fake NVML in one library, opened by name. FAKE_DRIVER in the environment selects its behaviour.
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <unistd.h>

namespace {

std::string_view behaviour() {
  const char* text = std::getenv("FAKE_DRIVER");
  return text != nullptr ? text : "";
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  if (behaviour() == "crash") std::abort();
  if (behaviour() == "hang") ::sleep(60);
  if (behaviour() == "chatter") {
    [[maybe_unused]] const auto written = ::write(1, "noise", 5);
  }
  return behaviour() == "none" ? 100 : 0;
}
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = 2, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* text, int length, int device) {
  std::strncpy(text, device == 0 ? "NVIDIA Test" : "NVIDIA Test MIG 1g.10gb", static_cast<std::size_t>(length));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? 9 : attribute == 76 ? device : 1;
  return attribute == 88 && device == 1 ? 1 : 0;
}
int cuDeviceGetUuid_v2(unsigned char* bytes, int device) {
  for (int i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(16 * device + i);
  return 0;
}
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR_NO_DEVICE", 0; }

int nvmlInit_v2() { return behaviour() == "no-nvml" ? 9 : 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 1, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) { return *device = nullptr, 0; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = nullptr;
  const std::string_view text = uuid;
  return text == "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f" || text == "MIG-10111213-1415-1617-1819-1a1b1c1d1e1f" ? 0
                                                                                                                  : 6;
}
int nvmlDeviceGetUUID(void*, char*, unsigned) { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned) { return std::strcpy(text, "580.65.06"), 0; }
// The older name of the function, for drivers before 535.
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) { return *bits = 0x80, 0; }
}
