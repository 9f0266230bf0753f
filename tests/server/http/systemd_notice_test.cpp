// What systemd hears.
#include "server/http/systemd_notice.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/fixtures/scratch_folder.h"

namespace annulus::server {
namespace {

class SystemdNoticeTest : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("NOTIFY_SOCKET"); }
};

TEST_F(SystemdNoticeTest, HearsTheStateAtItsSocket) {
  const ScratchFolder scratch;
  const std::string path = scratch / "notify";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int manager = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  ASSERT_GE(manager, 0);
  ASSERT_EQ(::bind(manager, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  EXPECT_TRUE(tell_systemd("READY=1"));
  std::array<char, 64> heard{};
  EXPECT_EQ(::recv(manager, heard.data(), heard.size(), MSG_DONTWAIT), 7);
  EXPECT_STREQ(heard.data(), "READY=1");
  ::close(manager);
}

TEST_F(SystemdNoticeTest, WithoutOneNothingIsSent) {
  ::unsetenv("NOTIFY_SOCKET");
  EXPECT_FALSE(tell_systemd("READY=1"));
  for (const std::string& name : {std::string("/no/such/socket"), std::string("relative"), std::string(200, '/')}) {
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    EXPECT_FALSE(tell_systemd("READY=1")) << name;
  }
}

}  // namespace
}  // namespace annulus::server
