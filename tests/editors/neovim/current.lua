-- Neovim 0.11 with the file of `editors/neovim`: findings, hints, hover and, where TASK names one, an action that is written.
local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
local shared = dofile(here .. '/shared.lua')

local function lines_of_hover(line)
  vim.api.nvim_win_set_cursor(0, { line, 12 })
  local answers = vim.lsp.buf_request_sync(0, 'textDocument/hover', vim.lsp.util.make_position_params(0, 'utf-8'), shared.patience_ms)
  local texts = {}
  for _, answer in pairs(answers or {}) do
    if answer.result then
      table.insert(texts, answer.result.contents.value)
    end
  end
  return texts
end

local function act(action)
  local diagnostics = {}
  for _, it in ipairs(vim.diagnostic.get(0)) do
    if it.code == action.rule then
      table.insert(diagnostics, it)
    end
  end
  local at = diagnostics[1] or { lnum = 0, col = 0 }
  vim.api.nvim_win_set_cursor(0, { at.lnum + 1, at.col })
  local before = vim.b.changedtick
  local offered = {}
  vim.lsp.buf.code_action({
    apply = true,
    context = action.only and { only = action.only } or nil,
    filter = function(it)
      table.insert(offered, it.title)
      return it.title:lower():find(action.title) ~= nil
    end,
  })
  shared.wait('an edit by one of ' .. vim.inspect(offered), function() return vim.b.changedtick > before end)
  vim.cmd('silent wall')
end

shared.run(function()
  vim.lsp.enable('gpulint')
  shared.edit(shared.task.file or 'terraform/main.tf')
  shared.wait('a server', function() return #vim.lsp.get_clients({ bufnr = 0, name = 'gpulint' }) == 1 end)
  shared.wait('findings', function() return #vim.diagnostic.get(0) > 0 end)
  local client = vim.lsp.get_clients({ bufnr = 0 })[1]
  vim.lsp.inlay_hint.enable(true, { bufnr = 0 })
  local seen = { encoding = client.offset_encoding, root = client.root_dir, rules = shared.rules() }
  if shared.task.action then
    act(shared.task.action)
    return shared.done(seen)
  end
  shared.wait('hints', function() return #vim.lsp.inlay_hint.get({ bufnr = 0 }) > 0 end)
  seen.hints = {}
  for _, hint in ipairs(vim.lsp.inlay_hint.get({ bufnr = 0 })) do
    local label = hint.inlay_hint.label
    label = type(label) == 'string' and label or vim.iter(label):map(function(it) return it.value end):join('')
    table.insert(seen.hints, { line = hint.inlay_hint.position.line, label = label })
  end
  seen.hover = lines_of_hover(9)
  seen.elsewhere = lines_of_hover(10)
  -- What is typed counts, and nothing is saved.
  vim.cmd([[silent %s/node_count = 2/node_count = 4/]])
  shared.wait('the amount of twice as many', function()
    return vim.iter(vim.lsp.inlay_hint.get({ bufnr = 0 })):any(function(it) return vim.inspect(it.inlay_hint.label):find('21,45') ~= nil end)
  end)
  vim.cmd('silent undo')
  shared.wait('the amount before', function()
    return vim.iter(vim.lsp.inlay_hint.get({ bufnr = 0 })):any(function(it) return vim.inspect(it.inlay_hint.label):find('10,726') ~= nil end)
  end)
  shared.done(seen)
end)
