#include "common/exercise/gemm.h"

namespace roofwalk {
namespace {

ROOFWALK_EXERCISE("block-order", Gemm);

}  // namespace
}  // namespace roofwalk
