// Tells systemd how the service is.
#pragma once

#include <string_view>

namespace annulus::server {

// Sends a state such as "READY=1" to the socket that $NOTIFY_SOCKET names, as sd_notify does. False where there is no
// such socket or it does not take the message: whoever started the program does not wait for it then.
bool tell_systemd(std::string_view state);

}  // namespace annulus::server
