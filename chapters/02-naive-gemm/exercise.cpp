#include "common/exercise/gemm.h"

namespace roofwalk {
namespace {

ROOFWALK_EXERCISE("naive-gemm", Gemm);

}  // namespace
}  // namespace roofwalk
