(function () {
  'use strict';
  function value(row, at) {
    var cell = row.cells[at];
    return cell.hasAttribute('data-v') ? parseFloat(cell.getAttribute('data-v')) : cell.textContent.trim().toLowerCase();
  }
  document.querySelectorAll('table.sortable').forEach(function (table) {
    var heads = table.querySelectorAll('thead th');
    // On a phone, each cell stands on its own line, so it needs the name of its column.
    Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
      Array.prototype.forEach.call(row.cells, function (cell, at) {
        if (cell.tagName === 'TD' && cell.className !== 'bar' && cell.colSpan === 1) {
          cell.setAttribute('data-name', heads[at].textContent);
        }
      });
    });
    table.classList.add('named');
    heads.forEach(function (head, at) {
      if (head.className === 'bar') { return; }
      var button = document.createElement('button');
      button.type = 'button';
      while (head.firstChild) { button.appendChild(head.firstChild); }
      head.appendChild(button);
      button.addEventListener('click', function () {
        var down = head.getAttribute('aria-sort') !== 'descending';
        heads.forEach(function (other) { other.removeAttribute('aria-sort'); });
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        var rows = Array.prototype.slice.call(table.tBodies[0].rows);
        rows.sort(function (a, b) {
          var x = value(a, at), y = value(b, at);
          var order = x < y ? -1 : x > y ? 1 : 0;
          return down ? -order : order;
        });
        rows.forEach(function (row) { table.tBodies[0].appendChild(row); });
      });
    });
  });
  document.querySelectorAll('[data-filter]').forEach(function (list) {
    var items = Array.prototype.slice.call(list.tagName === 'TABLE' ? list.tBodies[0].rows : list.children);
    if (items.length < 8) { return; }
    var label = document.createElement('label'), input = document.createElement('input');
    var told = document.createElement('span'), box = document.createElement('div');
    input.type = 'search';
    input.id = 'filter-' + list.id;
    label.htmlFor = input.id;
    label.textContent = 'Filter';
    told.setAttribute('role', 'status');
    box.className = 'filter small';
    [label, input, told].forEach(function (it) { box.appendChild(it); });
    var place = list.tagName === 'TABLE' ? list.parentNode : list;
    place.parentNode.insertBefore(box, place);
    input.addEventListener('input', function () {
      var wanted = input.value.trim().toLowerCase(), shown = 0;
      items.forEach(function (item) {
        item.hidden = wanted !== '' && item.textContent.toLowerCase().indexOf(wanted) < 0;
        shown += item.hidden ? 0 : 1;
      });
      told.textContent = wanted === '' ? '' : shown + ' of ' + items.length;
    });
  });
}());
