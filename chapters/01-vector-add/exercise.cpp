#include "common/exercise/vector_add.h"

namespace roofwalk {
namespace {

ROOFWALK_EXERCISE("vector-add", VectorAdd);

}  // namespace
}  // namespace roofwalk
