#include "grader/programs/kernel_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk {
namespace {

bool matches(const std::string& typed, const std::string& name) {
  const auto filter = KernelFilter::read(typed);
  EXPECT_TRUE(filter) << typed;
  return filter && filter->matches(name);
}

TEST(KernelNames, AreMatchedWithAndWithoutNamespacesAndArguments) {
  const std::string name = "my::gemm<my::Tile<128, 8>, float>";
  for (const char* typed : {"gemm", "my::gemm", "gemm<my::Tile<128,8>, float>", "my::gemm<my::Tile<128, 8>,float>",
                            "regex:^my::g.*m", "regex:Tile<128"}) {
    EXPECT_TRUE(matches(typed, name)) << typed;
  }
  for (const char* typed : {"gem", "Tile", "my::gem", "gemm<128>", "your::gemm", "regex:^gemm", "regex:tile"})
    EXPECT_FALSE(matches(typed, name)) << typed;
  EXPECT_TRUE(matches("Kernel", "_ZN3cub6KernelIiEEvPi")) << "a name that is too long to be demangled";
}

TEST(KernelNames, OfNoKernelAreRefused) {
  EXPECT_FALSE(KernelFilter::read(""));
  EXPECT_FALSE(KernelFilter::read("regex:"));
  EXPECT_EQ(KernelFilter::read("regex:(").error().message, "( is no regular expression");
}

TEST(KernelNames, LoseNamespacesInArgumentsToo) {
  EXPECT_EQ(without_namespaces("my::scale<my::Tile<128>, a::b::C*>"), "scale<Tile<128>, C*>");
  EXPECT_EQ(without_namespaces("f<P<int, int>::Policy>"), "f<Policy>");
  EXPECT_EQ(without_namespaces("(anonymous namespace)::f<(anonymous namespace)::P>"), "f<P>");
  EXPECT_EQ(without_namespaces("f<void (*)(int)>"), "f<void (*)(int)>");
  EXPECT_EQ(without_namespaces("f>>"), "f>>");
}

TEST(KernelNames, AreShortenedFromWithin) {
  const std::string name = "my::gemm<my::Tile<my::Shape<128, 128, 32>, 8>, float, 4>";
  EXPECT_EQ(shown_kernel_name(name, 80), "gemm<Tile<Shape<128, 128, 32>, 8>, float, 4>");
  EXPECT_EQ(shown_kernel_name(name, 40), "gemm<Tile<...>, float, 4>");
  EXPECT_EQ(shown_kernel_name(name, 24), "gemm<Tile<...>, ...>");
  EXPECT_EQ(shown_kernel_name(name, 16), "gemm<...>");
  EXPECT_EQ(shown_kernel_name(name, 8), "gemm<...");
  EXPECT_EQ(shown_kernel_name("\x1b[31mred", 40), "\\x1b[31mred");
}

TEST(KernelNames, ThatWouldLookAlikeHaveNumbers) {
  EXPECT_THAT(shown_kernel_names({"f<Tile<Shape<1, 1>, 8> >", "f<Tile<Shape<2, 2>, 8> >", "g"}, 16),
              ::testing::ElementsAre("f<Tile<...>>", "f<Tile<...>> (2)", "g"));
}

}  // namespace
}  // namespace roofwalk
