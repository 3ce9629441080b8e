-- What the scripts beside this have in common. They are told what to do by the environment and write what they saw as JSON.
local shared = {}

shared.root = assert(os.getenv('WORKSPACE'))
shared.task = vim.json.decode(os.getenv('TASK') or '{}')
shared.patience_ms = 30000

function shared.fail(why)
  io.stderr:write(why .. '\n')
  vim.cmd('cquit 1')
end

function shared.wait(what, holds)
  if not vim.wait(shared.patience_ms, holds, 20) then
    shared.fail('not within ' .. shared.patience_ms .. ' ms: ' .. what)
  end
end

function shared.done(seen)
  local file = assert(io.open(assert(os.getenv('SEEN')), 'w'))
  file:write(vim.json.encode(seen))
  file:close()
  vim.cmd('qall!')
end

function shared.edit(name)
  vim.cmd('edit ' .. vim.fn.fnameescape(shared.root .. '/' .. name))
end

function shared.rules(buffer)
  local rules = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(buffer or 0)) do
    table.insert(rules, diagnostic.code)
  end
  table.sort(rules)
  return rules
end

-- Runs the body where errors end the editor: one that waits at a prompt would wait for ever.
function shared.run(body)
  local fine, why = xpcall(body, debug.traceback)
  if not fine then
    shared.fail(why)
  end
end

return shared
