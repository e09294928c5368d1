// The elements of arrays that nvcc declares as bytes.
#include "common/vgpu/program/element_sizes.h"

#include <gtest/gtest.h>

namespace roofwalk::vgpu {
namespace {

// The sizes of the elements of `variable`, as nvcc declares it, and of a scalar behind it.
std::vector<std::uint32_t> sizes_of(const std::string& variable, const std::string& body) {
  const auto module = ptx::parse(".version 9.0\n.target sm_80\n.address_size 64\n" + variable +
                                     "\n.global .align 4 .f32 scalar;\n.visible .entry k()\n{\n.reg .b32 %r<5>;\n"
                                     ".reg .b64 %rd<5>;\nmov.u32 %r1, %tid.x;\n" +
                                     body + "ret;\n}\n",
                                 "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  return module ? element_sizes(*module) : std::vector<std::uint32_t>{};
}

TEST(ElementSizes, AreThoseByWhichIndicesAreMultiplied) {
  using Sizes = std::vector<std::uint32_t>;
  const std::string floats = ".global .align 4 .b8 part[256];", address = "mov.u64 %rd1, part;\n",
                    store = "st.global.u32 [%rd3], %r1;\n";
  EXPECT_EQ(sizes_of(floats, address + "mul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" + store),
            (Sizes{4, 4}));
  EXPECT_EQ(sizes_of(floats, address + "cvt.s64.s32 %rd4, %r1;\nshl.b64 %rd2, %rd4, 2;\nadd.s64 %rd3, %rd2, %rd1;\n"),
            (Sizes{4, 4}));
  EXPECT_EQ(sizes_of(floats, address + "mad.wide.u32 %rd3, %r1, 4, %rd1;\n" + store), (Sizes{4, 4}));
  // Rows of 32 bytes: part[i][j].
  EXPECT_EQ(sizes_of(floats, address + "mul.wide.s32 %rd2, %r1, 32;\nadd.s64 %rd3, %rd1, %rd2;\n"
                                       "mul.wide.s32 %rd4, %r1, 4;\nadd.s64 %rd3, %rd3, %rd4;\n"),
            (Sizes{4, 4}));
  EXPECT_EQ(
      sizes_of(".const .align 16 .b8 part[256];", address + "mul.wide.s32 %rd2, %r1, 16;\nadd.s64 %rd3, %rd1, %rd2;\n"),
      (Sizes{16, 4}));
}

TEST(ElementSizes, AreOneWhereNothingTellsThem) {
  using Sizes = std::vector<std::uint32_t>;
  const std::string structs = ".global .align 4 .b8 part[768];", address = "mov.u64 %rd1, part;\n";
  // An array of structs of three floats; one whose only index is a constant; a product with another array's index.
  EXPECT_EQ(sizes_of(structs, address + "mul.wide.s32 %rd2, %r1, 12;\nadd.s64 %rd3, %rd1, %rd2;\n"), (Sizes{1, 4}));
  EXPECT_EQ(sizes_of(structs, "st.global.u32 [part+8], %r1;\n"), (Sizes{1, 4}));
  EXPECT_EQ(sizes_of(structs, address + "mul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd2, 8;\n"), (Sizes{1, 4}));
  EXPECT_EQ(sizes_of(".global .align 1 .b8 part[33];", ""), (Sizes{1, 4}));
}

}  // namespace
}  // namespace roofwalk::vgpu
