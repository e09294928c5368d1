#include "common/base/network_file_system.h"

#include <gtest/gtest.h>

namespace roofwalk::test {
namespace {

TEST(NetworkFileSystem, IsToldByItsNumber) {
  EXPECT_STREQ(network_file_system(std::uint64_t{0x6969}), "NFS");
  EXPECT_STREQ(network_file_system(std::uint64_t{0xFF534D42}), "SMB");
  // f_type is signed on some systems.
  EXPECT_STREQ(network_file_system(static_cast<std::uint64_t>(static_cast<std::int32_t>(0xFE534D42))), "SMB");
  EXPECT_STREQ(network_file_system(std::uint64_t{0x0BD00BD0}), "Lustre");
  EXPECT_EQ(network_file_system(std::uint64_t{0xEF53}), nullptr);      // ext4
  EXPECT_EQ(network_file_system(std::uint64_t{0x01021994}), nullptr);  // tmpfs
}

TEST(NetworkFileSystem, AFolderOfThisMachineIsNone) {
  EXPECT_EQ(network_file_system(std::filesystem::path("/proc")), nullptr);
  EXPECT_EQ(network_file_system(std::filesystem::path("/no/such/folder")), nullptr);
}

}  // namespace
}  // namespace roofwalk::test
