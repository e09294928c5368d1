#include "common/roofline/cause_hints.h"

namespace roofwalk {
namespace {

constexpr CauseHints kHints[] = {
    {"over_roof",
     {"A dot above the roof is not fast, it is impossible. Which work or which bytes does the kernel leave out?",
      "Either a part of the result is not computed, or bytes are served from somewhere that this roof does not count.",
      "Compare executed with useful FLOPs and bytes with compulsory bytes on the card: the one that is too small says "
      "which part of the problem is skipped."}},
    {"low_precision",
     {"The chapter asks for results in float. Where does the kernel hold fewer bits than that?",
      "A value that passes through half or bfloat16 once has lost its digits, whatever it is stored in later.",
      "Keep inputs, sums and results in float, and leave out conversions such as __float2half."}},
    {"launch_bound",
     {"How many launches does SOLVE make, and how much work has each of them?",
      "A launch costs microseconds before its first thread runs. Work that takes less than that waits for launches.",
      "Do in one kernel what several do now: widen the grid, or let each thread do the next step too."}},
    {"few_blocks",
     {"A block lives on one SM. How many blocks do you launch, and how many SMs are there?",
      "An SM hides waiting by having other warps at hand, so the GPU wants many blocks for each SM.",
      "Give each thread less to do and compute the grid from the problem: ceil_div(n, threads) blocks."}},
    {"tail",
     {"Divide your number of blocks by the number that fits on the GPU at once. What does the remainder do?",
      "Blocks run in waves. A last wave of a few blocks takes as long as a full one, with most SMs idle.",
      "Choose smaller blocks or another tile, so that the last wave is full or one of many."}},
    {"spills",
     {"The kernel uses memory that you never asked for. Which values of a thread have no register?",
      "A thread has at most 255 registers, fewer where many threads share an SM. What does not fit goes to local "
      "memory, and that is DRAM.",
      "Use smaller tiles a thread, constant indices into local arrays (unroll the loop), or fewer threads a block."}},
    {"over_fetch",
     {"Take the line on the card and write down the addresses that threads 0, 1 and 2 of a warp touch. How many bytes "
      "lie between them?",
      "Memory comes in sectors of 32 bytes. Eight neighbouring floats that a warp wants together cost one sector; "
      "eight scattered ones cost eight.",
      "Let threadIdx.x count the index that is consecutive in memory, or fetch the tile row by row into shared memory "
      "and read it from there in any order."}},
    {"bank_conflicts",
     {"Shared memory has 32 banks, one float wide. Which bank does each thread of the warp ask on that line?",
      "Threads that want different words of one bank take turns. A column of a tile that is 32 floats wide lies in a "
      "single bank.",
      "Let neighbouring threads read neighbouring words. For columns make the rows one float longer (tile[32][33]), "
      "four where float4 is read; or swizzle the column index by the row."}},
    {"divergent_constants",
     {"Which word of the __constant__ array does each thread of a warp read on that line? How many different ones are "
      "those?",
      "The constant cache hands one word to all threads of a warp that want it. Threads that want different words take "
      "turns: 32 words, 32 turns.",
      "Index __constant__ arrays by what is the same for the whole warp: a loop counter, blockIdx. A table that each "
      "thread looks up elsewhere belongs into an ordinary array, or into shared memory."}},
    {"divergence",
     {"Which condition differs between the threads of one warp?",
      "The 32 threads of a warp share one instruction stream. Where they part, both sides run one after the other.",
      "Let the condition depend on the warp or the block instead of the thread, or compute both sides and select."}},
    {"executed_over_useful",
     {"The card shows executed and useful FLOPs. Which results are computed twice, or not used? Is blockIdx in the "
      "index?",
      "Arithmetic on padding, or the same value computed by several threads, takes time and moves no dot.",
      "Guard what lies outside the problem, and compute what several threads share once, into shared memory."}},
    {"unfused",
     {"Count the kernels, and the arrays that travel between them. Who reads what the first one wrote?",
      "What one kernel writes and the next one reads crosses DRAM twice. Inside one kernel it could stay on the chip.",
      "Compute the next step while the values are in registers or shared memory: one kernel, one pass over the data."}},
    {"redundant_loads",
     {"Which bytes come a second time: for a neighbouring block, or for the same one after its cache lost them?",
      "Blocks share nothing but L2: what several of them need is loaded by each. And what one reads again comes from "
      "DRAM again where L1 and L2 hold too little.",
      "Let a block compute a larger piece of the result, so that fewer blocks load the same data; keep what a thread "
      "needs again in registers or shared memory."}},
    {"no_reuse",
     {"How often is one element of the input needed, and how often is it loaded?",
      "Data that many threads of a block need can be loaded once into shared memory; data that one thread needs again "
      "can stay in its registers.",
      "Load a tile into shared memory together, __syncthreads(), use it for all products that need it, "
      "__syncthreads(), next tile. Then let a thread compute several results from each value that it reads."}},
    {"sum_in_memory",
     {"How often does the loop write to memory, and how often would be enough?",
      "What is stored has to travel to L2, and what reads it back travels again: hundreds of cycles for each step of a "
      "sum. A register has its value at once.",
      "Declare a variable before the loop (float sum = 0.0f), add to it inside, and store it once after the loop."}},
    {"low_occupancy",
     {"Look at registers and shared memory on the card. Which of them decides how many blocks an SM can hold?",
      "Warps that wait cost nothing while others can run. With few warps on an SM, nobody fills the gaps.",
      "Use less shared memory or fewer registers a block, smaller blocks, or several independent loads a thread."}},
    {"barriers",
     {"What do the warps of a block do between the loads of a tile and the barrier?",
      "At __syncthreads() everybody waits for the slowest load. Work that does not need this tile could go on.",
      "Use two buffers: start the loads of the next tile (cp.async, or into registers), compute on this one, then "
      "wait. Or let two blocks share an SM."}},
    {"dependency",
     {"Which value does each instruction of the inner loop need from the one before?",
      "An addition takes several cycles. A single running sum can use one result every few cycles, whatever the "
      "machine has to offer.",
      "Keep several independent sums and add them up at the end, or let a thread compute several results at once."}},
    {"latency",
     {"How many bytes has one thread asked for before it first waits?",
      "Bandwidth times latency is what must be on its way at any moment. With less, the memory is idle in between.",
      "Load float4 instead of float, and start several independent loads before the first use of any of them."}},
    {"shared_traffic",
     {"How many values does the inner loop read from shared memory for each multiply-add?",
      "Shared memory is fast, yet a register is faster: what a thread holds can serve several multiply-adds.",
      "Let a thread compute a small block of results, such as 4 x 4: 8 reads then serve 16 multiply-adds."}},
    {"instruction_bound",
     {"Which instructions of the inner loop are not arithmetic on your data?",
      "Index arithmetic, loop counters and narrow loads take issue slots like everything else.",
      "Unroll the loop, move address arithmetic out of it, and use float4 loads."}},
    {"fp_bound",
     {"What does each result cost in divisions, roots and exponentials?",
      "A fused multiply-add does two FLOPs in one slot. Special functions have a pipe of their own, a narrow one.",
      "Multiply by a reciprocal that is computed once, write a * b + c, and keep several independent sums."}},
};

}  // namespace

std::span<const CauseHints> cause_hints() { return kHints; }

}  // namespace roofwalk
