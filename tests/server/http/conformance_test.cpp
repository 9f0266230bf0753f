// Edge cases of RFC 9112 and 9110 (tests/data/http/conformance.json), with the answers that each must get.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/fixtures/running_http.h"

namespace annulus::server {
namespace {

nlohmann::json edge_cases() {
  std::ifstream file(std::string(ANNULUS_TEST_DATA) + "/http/conformance.json");
  return nlohmann::json::parse(file);
}

TEST(HttpConformance, EveryEdgeCaseGetsItsAnswer) {
  HttpOptions options = small_limits();
  options.check_host = true;
  Running running(options, echo);
  std::size_t cases = 0;
  for (const auto& edge : edge_cases()) {
    SCOPED_TRACE(edge["name"].get<std::string>() + ", RFC " + edge["rfc"].get<std::string>());
    const std::string bytes = edge["send"];
    RawClient client(running.port());
    if (edge.value("a_byte_at_a_time", false)) {
      for (const char byte : bytes) ASSERT_TRUE(client.send({&byte, 1}));
    } else if (edge.value("head", false)) {
      client.ask("HEAD", "/before");  // the client then knows that there is no body
      client.send(bytes);
    } else {
      client.send(bytes);
    }
    if (edge.value("half_close", false)) ::shutdown(client.descriptor(), SHUT_WR);
    for (std::size_t i = 0; i < edge["answers"].size(); ++i) {
      const RawResponse answer = client.read();
      EXPECT_EQ(answer.status, edge["answers"][i].get<int>()) << answer.body;
      EXPECT_EQ(answer.body, edge.contains("bodies") ? edge["bodies"][i].get<std::string>() : answer.body);
    }
    if (edge["ends"].get<bool>()) {
      EXPECT_EQ(client.read().status, 0) << "another answer came";
    } else {
      // The connection is good for another request; where one is under way, its body is what comes next.
      const bool continued = edge["answers"].back() == 100;
      if (continued) client.send("ok");
      EXPECT_EQ(continued ? client.read().status : client.ask("GET", "/after").status, 200);
    }
    ++cases;
  }
  EXPECT_GE(cases, 70U);
}

}  // namespace
}  // namespace annulus::server
