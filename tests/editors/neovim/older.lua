-- Neovim 0.7 with `editors/neovim/older.lua`: findings, hover and an action; nothing of what came later is there.
local here = debug.getinfo(1, 'S').source:sub(2):match('^(.*)/')
local shared = dofile(here .. '/shared.lua')

local function act(action)
  for _, it in ipairs(vim.diagnostic.get(0)) do
    if it.code == action.rule then
      local spot = { line = it.lnum, character = it.col }
      local parameters = {
        textDocument = { uri = vim.uri_from_bufnr(0) },
        range = { start = spot, ['end'] = spot },
        context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics(0, it.lnum) },
      }
      local id = next(vim.lsp.buf_get_clients(0))
      local client = vim.lsp.get_client_by_id(id)
      local answer = client.request_sync('textDocument/codeAction', parameters, shared.patience_ms, 0)
      for _, offered in ipairs(answer.result or shared.fail(vim.inspect(answer))) do
        if offered.title:lower():find(action.title) then
          local whole = offered.edit and offered or client.request_sync('codeAction/resolve', offered, shared.patience_ms, 0).result
          vim.lsp.util.apply_workspace_edit(whole.edit, client.offset_encoding)
          vim.cmd('silent wall')
          return
        end
      end
      shared.fail('no such action: ' .. vim.inspect(answer))
    end
  end
  shared.fail('no finding of ' .. action.rule)
end

shared.run(function()
  dofile(assert(os.getenv('EDITORS')) .. '/neovim/older.lua')
  shared.edit(shared.task.file or 'terraform/main.tf')
  shared.wait('findings', function() return #vim.diagnostic.get(0) > 0 end)
  local _, client = next(vim.lsp.buf_get_clients(0))
  local seen = { encoding = client.offset_encoding, root = client.config.root_dir, rules = shared.rules() }
  if shared.task.action then
    act(shared.task.action)
    return shared.done(seen)
  end
  vim.api.nvim_win_set_cursor(0, { 9, 12 })
  local answers = vim.lsp.buf_request_sync(0, 'textDocument/hover', vim.lsp.util.make_position_params(), shared.patience_ms)
  seen.hover = {}
  for _, answer in pairs(answers) do
    table.insert(seen.hover, answer.result and answer.result.contents.value)
  end
  vim.cmd([[silent %s/node_count = 2/node_count = 4/]])
  shared.wait('the amount of twice as many', function()
    for _, it in ipairs(vim.diagnostic.get(0)) do
      if it.message:find('21,45') then return true end
    end
  end)
  -- A second file is held by the same server.
  vim.cmd('silent undo')
  vim.cmd('silent write')
  shared.edit('terraform/notebook/main.tf')
  shared.wait('findings of another file', function() return #vim.diagnostic.get(0) > 0 end)
  seen.servers = #vim.lsp.get_active_clients()
  shared.done(seen)
end)
