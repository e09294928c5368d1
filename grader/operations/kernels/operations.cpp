// The table of operations. Sizes are large enough that on an H100 the launch takes little of the time, and small enough
// that measuring all operations on the virtual H100 takes seconds.
#include "grader/operations/kernels/operation.h"

#include "common/exercise/vector_add.h"

namespace roofwalk {
namespace {

constexpr double kFloatBytes = 4;

// Llama-2 7B's gate projection, 4096 to 11008.
Size feed_forward(std::int64_t batch) { return Size({{"batch", batch}, {"n", 11008}, {"k", 4096}}); }

// n and k are no multiples of the kernel's tiles; the batches cover each of its tile shapes.
std::vector<Size> odd_layers(std::vector<std::int64_t> batches) {
  std::vector<Size> sizes;
  for (const std::int64_t batch : batches) {
    sizes.push_back(Size({{"batch", batch}, {"n", 72}, {"k", 104}}));
    sizes.push_back(Size({{"batch", batch}, {"n", 8}, {"k", 8}}));
  }
  return sizes;
}

Operation gemm(std::int64_t batch, std::vector<std::int64_t> small_batches) {
  return {.name = "gemm-" + std::to_string(batch),
          .kernel = "gemm.cu",
          .type = "fp16",
          .compute_roof = Roof::mma,
          .size = feed_forward(batch),
          .textbook_ai = weights_only_ai(static_cast<double>(batch), kHalfBytes),
          .rule = "2 batch / bytes of a weight",
          .left_out = "the activations, in and out",
          .exercise = make_linear(),
          .small_sizes = odd_layers(std::move(small_batches))};
}

std::vector<Operation> make_operations() {
  constexpr std::int64_t kTokens = 2048;
  return {
      {.name = "vector-add",
       .kernel = "vector_add.cu",
       .type = "fp32",
       .compute_roof = Roof::fp32,
       .size = Size({{"n", 1 << 24}}),
       .textbook_ai = elementwise_work(1, 1, 2, 1, kFloatBytes).ai(),
       .rule = "1 FLOP, 8 bytes read, 4 written",
       .left_out = {},
       .exercise = std::make_shared<VectorAdd>(),
       .small_sizes = {Size({{"n", 1}}), Size({{"n", 4095}}), Size({{"n", 4100}})}},
      {.name = "layernorm",
       .kernel = "layernorm.cu",
       .type = "fp16",
       .compute_roof = Roof::fp32,
       .size = Size({{"rows", 8192}, {"columns", 4096}}),
       .textbook_ai = elementwise_work(1, kLayernormFlops, 1, 1, kHalfBytes).ai(),
       .rule = "5 FLOPs, one read, one write",
       .left_out = "the parameters",
       .exercise = make_layernorm(),
       .small_sizes = {Size({{"rows", 1}, {"columns", 8}}), Size({{"rows", 3}, {"columns", 1032}}),
                       Size({{"rows", 2}, {"columns", 2056}}), Size({{"rows", 2}, {"columns", 6008}})}},
      {.name = "softmax",
       .kernel = "softmax.cu",
       .type = "fp16",
       .compute_roof = Roof::fp32,
       .size = Size({{"rows", 1024}, {"columns", 32000}}),  // logits over Llama-2's vocabulary
       .textbook_ai = elementwise_work(1, kSoftmaxFlops, 1, 1, kHalfBytes).ai(),
       .rule = "4 FLOPs, one read, one write",
       .left_out = {},
       .exercise = make_softmax(),
       .small_sizes = {Size({{"rows", 1}, {"columns", 8}}), Size({{"rows", 3}, {"columns", 5016}})}},
      {.name = "gemv",
       .kernel = "gemv.cu",
       .type = "fp16",
       .compute_roof = Roof::fp32,
       .size = feed_forward(1),
       .textbook_ai = weights_only_ai(1, kHalfBytes),
       .rule = "2 batch / bytes of a weight",
       .left_out = "the vectors",
       .exercise = make_linear(),
       .small_sizes = odd_layers({1, 2})},
      gemm(1, {1, 16}),
      gemm(32, {17, 32}),
      gemm(256, {33, 150}),
      {.name = "decode",
       .kernel = "decode.cu",
       .type = "fp16",
       .compute_roof = Roof::fp32,
       .size = Size({{"heads", 128}, {"keys", kTokens}}),
       .textbook_ai = weights_only_ai(1, kHalfBytes),
       .rule = "2 queries / bytes of a number in the cache",
       .left_out = "the query and the result",
       .exercise = make_decode(),
       .small_sizes = {Size({{"heads", 1}, {"keys", 1}}), Size({{"heads", 3}, {"keys", 131}})}},
      {.name = "prefill",
       .kernel = "prefill.cu",
       .type = "fp16",
       .compute_roof = Roof::mma,
       .size = Size({{"heads", 8}, {"tokens", kTokens}}),
       .textbook_ai = attention_work(kTokens, kTokens, 1, kHalfBytes).ai(),
       .rule = "tokens / bytes of a number",
       .left_out = {},
       .exercise = make_prefill(),
       .small_sizes = {Size({{"heads", 1}, {"tokens", 1}}), Size({{"heads", 2}, {"tokens", 150}})}},
  };
}

}  // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = make_operations();
  return all;
}

}  // namespace roofwalk
