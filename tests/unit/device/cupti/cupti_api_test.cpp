#include <dlfcn.h>
#include <gmock/gmock.h>
#include <link.h>

#include <filesystem>

#include "common/device/cuda/cupti/cupti_errors.h"
#include "tests/unit/device/cupti/real_cupti.h"

namespace roofwalk {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CuptiApi, IsFoundBesideTheToolkit) {
  std::string why;
  const auto api = real_cupti(why);
  if (!api) GTEST_SKIP() << why;
  std::uint32_t version = 0;
  EXPECT_EQ(api->cuptiGetVersion(&version), CUPTI_SUCCESS);
  EXPECT_GE(version, 130000u);
  EXPECT_NE(api->cuptiRangeProfilerEnable, nullptr);
}

// CUPTI must load its helper libraries from its own folder. If CUPTI was installed only from Python wheels, the
// loader's search path does not have them.
TEST(CuptiApi, ItsHelpersComeFromItsOwnFolder) {
  std::string why;
  if (!real_cupti(why)) GTEST_SKIP() << why;
  const auto folder_of = [](const char* name) {
    link_map* map = nullptr;
    void* const library = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    return library != nullptr && ::dlinfo(library, RTLD_DI_LINKMAP, &map) == 0
               ? std::filesystem::canonical(map->l_name).parent_path()
               : std::filesystem::path();
  };
  const std::filesystem::path own = folder_of("libcupti.so.13");
  EXPECT_FALSE(own.empty());
  EXPECT_EQ(folder_of("libnvperf_host.so"), own);
  EXPECT_EQ(folder_of("libnvperf_target.so"), own);
}

TEST(CuptiApi, ALibraryThatIsNotThereIsToldWithWhatToDo) {
  const auto api = load_cupti_api("/nowhere", "libcupti-of-nobody.so.13");
  ASSERT_FALSE(api.ok());
  EXPECT_THAT(api.error().message, HasSubstr("libcupti-of-nobody.so.13"));
  EXPECT_THAT(api.error().advice, HasSubstr("./roofwalk"));
}

TEST(CuptiApi, ALibraryThatIsNoCuptiIsRefused) {
  const auto api = load_cupti_api("", "libm.so.6");
  ASSERT_FALSE(api.ok());
  EXPECT_THAT(api.error().message, HasSubstr("libm.so.6 lacks cupti"));
}

TEST(CuptiErrors, EveryRowSaysACauseAndWhatToDo) {
  CUptiResult before = CUPTI_SUCCESS;
  for (const CuptiTrouble& row : cupti_troubles()) {
    EXPECT_LT(before, row.number) << "rows ascend, and none comes twice";
    before = row.number;
    EXPECT_EQ(find_cupti_trouble(row.number), &row);
    const Error error = cupti_error(row.number, "cuptiSomeCall");
    EXPECT_THAT(error.message, HasSubstr(std::string(row.cause)));
    EXPECT_THAT(error.message, HasSubstr("cuptiSomeCall: " + std::string(row.name) + ", " +
                                         std::to_string(static_cast<int>(row.number))));
    EXPECT_FALSE(row.cause.empty() || row.id.empty());
    EXPECT_THAT(error.message, Not(HasSubstr("\n")));
    EXPECT_GT(error.advice.size(), 8u) << row.name;
  }
}

TEST(CuptiErrors, TheCommonOnesNameTheirRemedy) {
  EXPECT_THAT(cupti_error(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "x").advice,
              testing::AllOf(HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"), HasSubstr("root"),
                             HasSubstr("--cap-add=PERFMON")));
  EXPECT_THAT(cupti_error(CUPTI_ERROR_HARDWARE_BUSY, "x").advice, HasSubstr("DCGM"));
  EXPECT_THAT(cupti_error(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "x").advice, HasSubstr("ncu"));
}

TEST(CuptiErrors, OneThatNobodyDescribedKeepsItsNumber) {
  const Error error = cupti_error(CUPTI_ERROR_QUEUE_EMPTY, "cuptiSomeCall");
  EXPECT_EQ(find_cupti_trouble(CUPTI_ERROR_QUEUE_EMPTY), nullptr);
  EXPECT_THAT(error.message, HasSubstr("cuptiSomeCall: 18"));
  EXPECT_FALSE(error.advice.empty());
}

}  // namespace
}  // namespace roofwalk
