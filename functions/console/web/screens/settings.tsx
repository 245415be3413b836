import type { Setting } from '../../../client/paths.ts';
import { api, sendForList, settings } from '../api.ts';
import { Screen } from '../components/screen.tsx';
import { type Column, LoadedTable } from '../components/table.tsx';
import { Badge } from '../components/text.tsx';
import { useLoad } from '../loading.ts';

interface Explained extends Setting {
  readonly meaning: string | undefined;
}

/** The settings, each with its meaning in infra/settings.md, which no other screen needs. */
const load = async (): Promise<readonly Explained[]> => {
  const all = await sendForList(api.GET('/api/admin/settings'));
  const meanings = await fetch(settings.meanings).then((response) => response.json());
  return all.map((setting) => ({ ...setting, meaning: meanings[setting.name] }));
};

const shown = (value: Setting['value']) =>
  value === '' ? <span class="muted">none</span> : <code>{value}</code>;

const columns: readonly Column<Explained>[] = [
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
  { title: 'Meaning', cell: ({ meaning }) => <span>{meaning}</span>, class: 'name' },
];

export const Settings = () => {
  const inForce = useLoad('settings', load);
  return (
    <Screen title="Settings">
      <p class="muted">Settings are changed where the service is deployed, or started.</p>
      <LoadedTable
        caption="Settings in force"
        columns={columns}
        from={inForce}
        keyOf={({ name }) => name}
        empty="There are none."
      />
    </Screen>
  );
};
