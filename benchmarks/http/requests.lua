-- One request a sentence, each thread through all of them in turn; SENTENCES names the file.
local bodies = {}
for line in io.lines(os.getenv("SENTENCES")) do
  local source = line:match("^[^\t]*"):gsub('[\\"]', "\\%0")
  bodies[#bodies + 1] = '{"source": "' .. source .. '", "attention": false}'
end
local next_body = 0

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"

function request()
  next_body = next_body % #bodies + 1
  return wrk.format(nil, nil, nil, bodies[next_body])
end

-- A line that run.sh reads: requests a second, the median and the 99th percentile in milliseconds, and all that failed.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %.0f %.2f %.2f %d\n", summary.requests, summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
