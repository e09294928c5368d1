// Each of the driver's errors, scripted at a call, becomes a fault or an error in the words of its row in the table.
#include "common/device/cuda/cuda_errors.h"

#include <set>

#include "tests/support/fake_driver.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

constexpr const char* kKernel = R"(#include <roofwalk.cuh>
__global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
SOLVE(float* x, int n) { twice<<<1, 32>>>(x, n); }
)";

Result<std::unique_ptr<CudaDevice>> open_fake(FakeDriver& driver, CudaOptions options = {}) {
  options.preheat_s = 0;
  options.host_ns = [&driver] { return driver.host_ns(); };
  return CudaDevice::open(driver.api(), std::move(options));
}

TEST(CudaErrors, EachRowIsInWords) {
  std::set<std::string_view> causes;
  for (const CudaError& error : cuda_errors()) {
    SCOPED_TRACE(error.name);
    EXPECT_TRUE(error.name.starts_with("CUDA_ERROR_"));
    EXPECT_FALSE(error.cause.empty());
    EXPECT_NE(error.cause.back(), '.');
    if (!error.fault) {
      EXPECT_FALSE(error.advice.empty()) << "an admin must know what to do";
    }
    causes.insert(error.cause);
  }
  EXPECT_GT(causes.size(), 40u);
}

// After a sticky error, the process cannot use CUDA any more. cuda.h says so of most of these codes. Of 710 (assert) it
// says that the context must be destroyed, and 214 is an ECC error.
TEST(CudaErrors, StickyOnesAreThoseThatLeaveTheProcessUnusable) {
  for (const int code : {700, 702, 714, 715, 716, 717, 718, 719, 721, 226, 710, 810, 214}) {
    EXPECT_TRUE(is_sticky(static_cast<CUresult>(code))) << code;
  }
  for (const int code : {1, 2, 100, 209, 218, 222, 304, 701, 720}) {
    EXPECT_FALSE(is_sticky(static_cast<CUresult>(code))) << code;
  }
  EXPECT_TRUE(is_sticky(static_cast<CUresult>(4711))) << "nobody knows what it does: a fresh process is right";
}

TEST(CudaErrors, EachOneOfALaunchIsAFaultOrAnError) {
  const auto artifact = compile(kKernel);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  for (const CudaError& error : cuda_errors()) {
    SCOPED_TRACE(error.name);
    FakeDriver driver(*load_machine("classroom"));
    auto opened = open_fake(driver);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    Runner runner(std::move(*opened));
    // A fault of a running kernel shows when the host queries whether the kernel is done.
    driver.fail(error.is_sticky ? "cuEventQuery" : "cuLaunchKernel", 2, error.number);
    Buffer x{"x", numbers(8)};
    const auto record = runner.run(*artifact, {&x, 8}, {});
    const bool refused_launch = error.number == CUDA_ERROR_INVALID_VALUE || error.number == CUDA_ERROR_OUT_OF_MEMORY;
    if (error.fault || refused_launch) {
      ASSERT_TRUE(record.ok()) << record.error().text();
      ASSERT_TRUE(record->fault.has_value());
      EXPECT_EQ(record->fault->kind, error.fault.value_or(FaultKind::resource));
      EXPECT_EQ(record->fault->kernel, "twice");
      EXPECT_EQ(record->fault->line, 6);
      EXPECT_TRUE(record->kernels.empty());
      EXPECT_EQ(record->counters, Counters());
      if (error.fault) {
        EXPECT_TRUE(record->fault->message.starts_with(error.cause)) << record->fault->message;
      }
    } else {
      ASSERT_FALSE(record.ok());
      EXPECT_NE(record.error().message.find(error.cause), std::string::npos) << record.error().text();
      EXPECT_NE(record.error().message.find(error.name), std::string::npos) << record.error().text();
      EXPECT_EQ(record.error().advice, error.advice);
    }
    EXPECT_EQ(runner.device().alive().ok(), !error.is_sticky);
    const auto next = runner.run(*artifact, {&x, 8}, {});
    EXPECT_EQ(next.ok() && !next->fault, !error.is_sticky);
  }
}

TEST(CudaErrors, EachOneAtTheStartSaysWhatToDo) {
  for (const CudaError& error : cuda_errors()) {
    SCOPED_TRACE(error.name);
    FakeDriver driver(*load_machine("classroom"));
    driver.fail("cuInit", 1, error.number);
    const auto started = start_driver(driver.api());
    ASSERT_FALSE(started.ok());
    EXPECT_NE(started.error().text().find(error.cause), std::string::npos);
    if (!error.advice.empty()) {
      EXPECT_EQ(started.error().advice, error.advice);
    }
  }
}

// If one of these calls fails while a device is opened or runs, the result is an error or a fault, never a success.
TEST(CudaErrors, NoFailedCallIsOverlooked) {
  const auto artifact = compile(kKernel);
  ASSERT_TRUE(artifact.ok());
  for (const char* call : {"cuDeviceGetCount",
                           "cuDeviceGet",
                           "cuDeviceGetName",
                           "cuDeviceGetUuid",
                           "cuDeviceGetAttribute",
                           "cuDeviceTotalMem",
                           "cuDevicePrimaryCtxRetain",
                           "cuCtxSetCurrent",
                           "cuMemAlloc",
                           "cuMemcpyHtoD",
                           "cuMemsetD8Async",
                           "cuModuleLoadDataEx",
                           "cuModuleGetFunction",
                           "cuFuncLoad",
                           "cuFuncGetAttribute",
                           "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                           "cuLaunchKernel",
                           "cuEventCreate",
                           "cuEventRecord",
                           "cuEventQuery",
                           "cuEventElapsedTime",
                           "cuStreamCreate",
                           "cuCtxSetLimit",
                           "cuCtxResetPersistingL2Cache"}) {
    for (int nth = 1; nth <= 3; ++nth) {
      SCOPED_TRACE(testing::Message() << call << " " << nth);
      FakeDriver driver(*load_machine("classroom"));
      driver.persisting_l2_bytes = 1 << 16;
      driver.fail(call, nth, CUDA_ERROR_SYSTEM_NOT_READY);
      auto opened = open_fake(driver);
      if (!opened) continue;
      Runner runner(std::move(*opened));
      Buffer x{"x", numbers(8)};
      const auto record = runner.run(*artifact, {&x, 8}, {});
      if (driver.calls(call) < nth) continue;
      // The query before the last one only checks whether the host was ahead of the GPU, so its failure spoils no
      // result.
      if (std::string_view(call) == "cuEventQuery" && record.ok()) continue;
      EXPECT_TRUE(!record.ok() || record->fault || !runner.device().alive().ok());
    }
  }
}

TEST(CudaErrors, TheDriverSpeaksWhereWeDoNot) {
  FakeDriver driver(*load_machine("classroom"));
  EXPECT_EQ(cuda_error(driver.api(), static_cast<CUresult>(4711), "dance").message,
            "cannot dance: something new (CUDA_ERROR_OF_TOMORROW, 4711)");
}

TEST(DriverApi, ItsAbsenceIsOnePlainError) {
  const auto none = load_driver_api("libcuda-of-nobody.so.1");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().text(),
            "there is no NVIDIA driver here: libcuda-of-nobody.so.1 cannot be opened (use `--device virtual`; in a "
            "container, start it with the GPU passed in (docker: --gpus all))");
  const auto other = load_driver_api("libm.so.6");  // a library, but no driver
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("from before CUDA 12"), std::string::npos) << other.error().text();
}

TEST(DriverApi, IsFilledFromALibrary) {
  const auto load = [](const char* answers) {
    ::setenv("SMALL_DRIVER", answers, 1);
    return load_driver_api(ROOFWALK_SMALL_DRIVER);
  };
  const auto api = load("13000");
  ASSERT_TRUE(api.ok()) << api.error().text();
#define ROOFWALK_IS_FILLED(name) EXPECT_NE(api->name, nullptr) << #name;
  ROOFWALK_DRIVER_CALLS(ROOFWALK_IS_FILLED)
#undef ROOFWALK_IS_FILLED
  const auto stub = load("stub"), older = load("12080"), old = load("12030");
  ASSERT_FALSE(stub.ok() || older.ok() || old.ok());
  EXPECT_NE(stub.error().message.find("the toolkit's stub, not a driver"), std::string::npos) << stub.error().text();
  EXPECT_NE(older.error().message.find("it is for CUDA 12.8"), std::string::npos) << older.error().text();
  EXPECT_NE(old.error().message.find("it has no cuFuncLoad"), std::string::npos) << old.error().text();
}

// cuGetProcAddress knows several versions of a function. It must be asked for the version that cuda.h declares.
TEST(DriverApi, AsksForTheFunctionsThatTheHeaderMeans) {
  const auto is_version = [](std::string_view suffix) {
    return suffix.empty() || (suffix.starts_with("_v") && suffix.find_first_not_of("0123456789", 2) == suffix.npos);
  };
#define ROOFWALK_TEXT(name) #name
#define ROOFWALK_MEANT(name) ROOFWALK_TEXT(name)
#define ROOFWALK_IS_MEANT(name)                                                                          \
  EXPECT_TRUE(std::string_view(ROOFWALK_MEANT(name)).starts_with(#name) &&                               \
              is_version(std::string_view(ROOFWALK_MEANT(name)).substr(std::string_view(#name).size()))) \
      << #name << " is " << ROOFWALK_MEANT(name);
  ROOFWALK_DRIVER_CALLS(ROOFWALK_IS_MEANT)
#undef ROOFWALK_IS_MEANT
#undef ROOFWALK_MEANT
#undef ROOFWALK_TEXT
}

TEST(DriverApi, AnOldDriverSaysWhichOneIsNeeded) {
  FakeDriver driver(*load_machine("classroom"));
  driver.version = 12090;
  const auto started = start_driver(driver.api());
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().message,
            "the NVIDIA driver is too old: it is for CUDA 12.9, and CUDA 13 needs driver 580 or later");
  driver.version = 13020;
  EXPECT_TRUE(start_driver(driver.api()).ok());
}

}  // namespace
}  // namespace roofwalk::test
