#include "common/exercise/gemm.h"

namespace roofwalk {
namespace {

ROOFWALK_EXERCISE("pipelined-gemm", Gemm);

}  // namespace
}  // namespace roofwalk
