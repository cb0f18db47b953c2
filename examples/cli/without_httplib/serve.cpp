// A server in a tool that was built without cpp-httplib: a sentence that says so.
#include <bahdanau/core/error.hpp>

#include "../commands.hpp"

namespace cli {

void serve(const ServeOptions&) {
  bahdanau::fail("serve", "a tool that was built with cpp-httplib", "one without",
                 "install the Debian package libcpp-httplib-dev and build it again");
}

}  // namespace cli
