// What is read from a program: fat binaries, their compression, the types in names of kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "common/cudart/fat_binary.h"
#include "common/cudart/fault_text.h"
#include "common/cudart/kernel_name.h"
#include "common/cudart/lz4.h"

namespace roofwalk::cudart {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::string_literals;

TEST(Lz4, RepeatsWhatWasRead) {
  // Four literals, then a match of 8 at distance 4 (token: 4 and 8 - 4), then the literal that ends the block.
  EXPECT_EQ(unpacked_lz4("\x44"s + "abcd\x04\x00"s + "\x10!"s, 13), "abcdabcdabcd!");
  // A match that overlaps itself, with a long length: 15 + 4 + 5.
  EXPECT_EQ(unpacked_lz4("\x1f"s + "x\x01\x00\x05\x00"s, 25), std::string(25, 'x'));
}

TEST(Lz4, RefusesDamagedBlocks) {
  const std::string good = "\x44"s + "abcd\x04\x00"s + "\x10!"s;
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(unpacked_lz4(good.substr(0, size), 13)) << size;
  EXPECT_FALSE(unpacked_lz4(good, 12));
  EXPECT_FALSE(unpacked_lz4(good, 14));
  EXPECT_FALSE(unpacked_lz4("\x44"s + "abcd\x05\x00"s + "\x10!"s, 13)) << "a match before the begin";
}

// A fat binary with plain entries: kind, capability and payload of each.
struct Entry {
  std::uint16_t kind = 1;
  std::uint32_t capability = 80;
  std::string payload;
};
std::string fat_binary_of(const std::vector<Entry>& entries) {
  std::string rest;
  for (const Entry& entry : entries) {
    std::string header(64, '\0');
    const std::uint32_t header_bytes = 64;
    const std::uint64_t size_bytes = entry.payload.size();
    std::memcpy(header.data(), &entry.kind, 2);
    std::memcpy(header.data() + 4, &header_bytes, 4);
    std::memcpy(header.data() + 8, &size_bytes, 8);
    std::memcpy(header.data() + 28, &entry.capability, 4);
    rest += header + entry.payload;
  }
  std::string head("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
  head.resize(kFatHeaderBytes);
  const std::uint64_t size_bytes = rest.size();
  std::memcpy(head.data() + 8, &size_bytes, 8);
  return head + rest;
}

TEST(FatBinary, HasThePtxForACapability) {
  const auto binary =
      read_fat_binary(fat_binary_of({{1, 75, "old\0\0"s}, {2, 90, "code"}, {1, 90, "new"}, {1, 80, "middle"}}));
  ASSERT_TRUE(binary.ok()) << binary.error().text();
  EXPECT_THAT(binary->ptx, SizeIs(3));
  EXPECT_THAT(binary->machine_code, ElementsAre(90));
  EXPECT_EQ(ptx_for(*binary, 70), nullptr);
  EXPECT_EQ(ptx_for(*binary, 75)->text, "old");
  EXPECT_EQ(ptx_for(*binary, 89)->text, "middle");
  EXPECT_EQ(ptx_for(*binary, 100)->text, "new");
}

TEST(FatBinary, RefusesWhatIsCutOff) {
  const std::string good = fat_binary_of({{1, 80, "text"}});
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(read_fat_binary(good.substr(0, size))) << size;
  std::string too_long = good;
  too_long[kFatHeaderBytes + 8] = 5;  // the entry's payload would end behind the binary
  EXPECT_FALSE(read_fat_binary(too_long));
  EXPECT_EQ(fat_binary_bytes("no fat binary at all"), 0u);
}

TEST(KernelName, IsShort) {
  EXPECT_EQ(short_kernel_name("add"), "add");
  EXPECT_EQ(short_kernel_name("scale<128>"), "scale<128>");
  EXPECT_EQ(short_kernel_name("cub::detail::Scan<cub::Policy<int>, 4>"), "Scan<cub::Policy<int>, 4>");
  EXPECT_EQ(short_kernel_name("_ZN3cub6detail4ScanINS_6PolicyIiEELi4EEEvi"), "Scan");
  EXPECT_EQ(short_kernel_name("_ZN9x"), "_ZN9x");
  EXPECT_EQ(short_kernel_name(""), "");
}

TEST(FaultText, FindsTheTypesOfParameters) {
  EXPECT_THAT(parameters_of("void add<float, 4>(float const*, std::pair<int, int>*, int (*)(int, int), int)"),
              ElementsAre("float const*", "std::pair<int, int>*", "int (*)(int, int)", "int"));
  EXPECT_THAT(parameters_of("k()"), IsEmpty());
  EXPECT_THAT(parameters_of(""), IsEmpty());
  EXPECT_EQ(element_bytes("float const*"), 4u);
  EXPECT_EQ(element_bytes("double*"), 8u);
  EXPECT_EQ(element_bytes("float4 const*"), 16u);
  EXPECT_EQ(element_bytes("float**"), 0u);
  EXPECT_EQ(element_bytes("Particle*"), 0u);
}

TEST(FaultText, CountsElementsOfTheArgument) {
  Fault fault;
  fault.kind = FaultKind::out_of_bounds;
  fault.kernel = "fill";
  fault.file = "app.cu";
  fault.line = 12;
  fault.block = {4, 0, 0};
  fault.thread = {1, 2, 0};
  fault.buffer = "allocation 7";
  fault.index = -4;
  fault.extent = 4000;
  fault.message = "out of bounds: reads allocation 7[-4] (4 bytes at once), but allocation 7 holds 4000 elements";
  EXPECT_EQ(fault_text(fault, "_Z4filliPf", {{0, "allocation 1"}, {1, "allocation 7"}}),
            "app.cu:12: out of bounds: reads argument 2[-1], but argument 2 holds 1000 elements (kernel fill, block 4, "
            "thread (1,2,0))");
  EXPECT_EQ(fault_text(fault, "fill", {}),
            "app.cu:12: out of bounds: reads byte -4 of allocation 7, which holds 4000 bytes (kernel fill, block 4, "
            "thread (1,2,0))");
  fault.message = "out of bounds: reads byte -4 of allocation 7 (4 bytes at once), which holds 4000 bytes";
  EXPECT_THAT(fault_text(fault, "_Z4filliPf", {{1, "allocation 7"}}),
              testing::HasSubstr("reads argument 2[-1], but argument 2 holds 1000 elements (kernel"));
  EXPECT_THAT(fault_text(fault, "fill", {}), testing::HasSubstr("reads byte -4 of allocation 7, which holds 4000 "));
  fault.kind = FaultKind::uninitialized;
  fault.index = 12;
  fault.message = "uninitialized: reads allocation 7[12], which nothing has written: memory is not zero by itself";
  EXPECT_THAT(fault_text(fault, "_Z4filliPf", {{1, "allocation 7"}}),
              testing::HasSubstr("uninitialized: reads argument 2[3], which nothing has written: memory is not zero by "
                                 "itself (kernel fill"));
  EXPECT_THAT(fault_text(fault, "fill", {}), testing::HasSubstr("reads byte 12 of allocation 7, which nothing"));
  fault.kind = FaultKind::out_of_bounds;
  fault.buffer = "table";  // a variable of the module has a name and elements of its own
  fault.message = "out of bounds: reads table[9], but table holds 9 elements";
  EXPECT_THAT(fault_text(fault, "fill", {}), testing::HasSubstr("reads table[9], but table holds 9 elements"));
}

}  // namespace
}  // namespace roofwalk::cudart
