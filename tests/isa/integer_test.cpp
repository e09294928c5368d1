// Integers: arithmetic that wraps and saturates, shifts, bit fields, permutations.
#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

ROW_TEST(Add, WrapsIntegers) {
  EXPECT_EQ(apply("add.s32 =r, $r, $r", {{0x7fffffff, 5}, {1, 6}}), (Values{0x80000000, 11}));
}

}  // namespace
}  // namespace roofwalk::isa
