// Which operators take eight bits, and the sentences for networks that have none.
#include "annulus/vision/quantize/int8_plan.h"

#include <gtest/gtest.h>

#include <string>

#include "annulus/vision/quantize/fold_constants.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/small_network.h"

namespace annulus {
namespace {

TEST(Int8Plan, TakesLayersButTheFirstAndSumsOfTheirResults) {
  const std::string file = small_network();
  OnnxNetwork network = OnnxNetwork::read(bytes_in(file), "small");
  fold_constants(network);
  const Int8Plan plan = plan_int8(network);
  std::set<std::string> kinds;
  for (const std::size_t node : plan.nodes) kinds.insert(network.nodes[node].outputs.front());
  EXPECT_EQ(kinds, (std::set<std::string>{"normed", "third", "sum", "features"}));
  // The matrix product gives float; the Relu after the sum and the one after the second convolution are ranges.
  EXPECT_EQ(plan.gives_int8.size(), 3U);
  EXPECT_EQ(plan.ends.size(), 2U);
  EXPECT_EQ(plan.ranged, (std::vector<std::string>{"first_end", "flat", "second_end", "sum_end", "third"}));
}

TEST(Int8Plan, SaysWhyThereIsNone) {
  const std::string file = small_network();
  const auto changed = [&](const auto& change) {
    return [&file, change] {
      OnnxNetwork network = OnnxNetwork::read(bytes_in(file), "small");
      change(network);
      plan_int8(network);
    };
  };
  expect_error(ErrorKind::kInput, "operator set 13 or newer to make int8 of, found 12",
               changed([](OnnxNetwork& network) { network.opsets[""] = 12; }));
  expect_error(ErrorKind::kInput, "found one with QuantizeLinear",
               changed([](OnnxNetwork& network) { network.nodes[1].kind = "QuantizeLinear"; }));
  expect_error(ErrorKind::kInput, "found none that int8 could speed up",
               changed([](OnnxNetwork& network) { network.nodes.resize(2); }));
  // Weights of another type or rank are left alone.
  expect_error(ErrorKind::kInput, "found none that int8 could speed up", changed([](OnnxNetwork& network) {
                 for (const char* name : {"second_w", "third_w", "head_w"}) {
                   network.set_weight(make_tensor(name, {1}, 10, {}));
                 }
               }));
}

}  // namespace
}  // namespace annulus
