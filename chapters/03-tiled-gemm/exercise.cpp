#include "common/exercise/gemm.h"

namespace roofwalk {
namespace {

ROOFWALK_EXERCISE("tiled-gemm", Gemm);

}  // namespace
}  // namespace roofwalk
