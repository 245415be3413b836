import { api, sendForList } from '../api.ts';
import { Screen } from '../components/screen.tsx';
import { type Column, LoadedTable } from '../components/table.tsx';
import { Badge } from '../components/text.tsx';
import type { Setting } from '../contract.d.ts';
import { useLoad } from '../loading.ts';

/** The description of each setting in infra/settings.md, which infra/static-files.ts puts in. */
declare const MEANINGS: Readonly<Record<string, string>>;

const shown = (value: Setting['value']) =>
  value === '' ? <span class="muted">none</span> : <code>{value}</code>;

const columns: readonly Column<Setting>[] = [
  { title: 'Setting', cell: ({ name }) => <code>{name}</code> },
  {
    title: 'Value',
    class: 'name',
    cell: ({ value, ...row }) => (
      <span>
        {shown(value)} {value !== row.default && <Badge kind="strong">Changed</Badge>}
      </span>
    ),
  },
  { title: 'Default', cell: (row) => shown(row.default) },
  { title: 'Meaning', cell: ({ name }) => <span>{MEANINGS[name]}</span>, class: 'name' },
];

/** The settings in force. They cannot be changed here. */
export const Settings = () => {
  const settings = useLoad('settings', () => sendForList(api.GET('/api/admin/settings')));
  return (
    <Screen title="Settings">
      <p class="muted">They are changed where the service is deployed, or started.</p>
      <LoadedTable
        caption="Settings in force"
        columns={columns}
        from={settings}
        keyOf={({ name }) => name}
        empty="There are none."
      />
    </Screen>
  );
};
